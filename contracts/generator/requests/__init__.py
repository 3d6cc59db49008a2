"""Request bodies: one flat object, or one union with a discriminator, for every operation.

`flat` creates it from the rooms' models, `fields` lists the codes of its string fields, and `conditions` their valid
combinations. Combinations are only in the strict contract.
"""

from __future__ import annotations
