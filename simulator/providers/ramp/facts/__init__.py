"""Facts: reference data that was read from a running service and replaces the shipped data of a world.

`fit` compares facts with the shipped data and returns the differences in the format that worlds accept. `put_facts`
applies the differences to a new world. Both environments of a world get the same facts.
"""

from __future__ import annotations

from decimal import Decimal

from simulator.engine.text.json import Shown
from simulator.kernel.world import World
from simulator.providers.ramp import fees, profile, reference
from simulator.providers.ramp.facts.fitting import fit, product_id, template
from simulator.providers.ramp.facts.forms import wrong_fact


def put_facts(world: World, facts: Shown) -> None:
    """Replace the reference data of a new world with the facts that a world can adopt. Call this function inside a
    world transaction.
    """
    facts, _ = fit(facts)
    for environment in world.environments:
        rates = {key: Decimal(rate) for key, rate in facts.get("rates", {}).items()}
        reference.put_rates(world, environment, rates)
        for period, limit in facts.get("limits", {}).items():
            profile.put_limit(world, environment, period, Decimal(limit["amount"]), limit["currency"])
        for identifier, fields in facts.get("fee_products", {}).items():
            wanted = fees.bodies.SetFeeProduct(**fields)
            own = product_id(identifier, environment)
            old = fees.product_of(world, environment, own) or template(own, environment, wanted.product)
            fees.put_changed(world, old, wanted)
