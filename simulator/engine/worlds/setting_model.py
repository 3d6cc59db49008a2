"""The models for settings in requests and flags, built from `SettingSet` and the assumptions of a service."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, StringConstraints, create_model

from simulator.engine.text.fields import Body
from simulator.engine.text.shapes import OneOf
from simulator.engine.worlds.alternatives import Alternatives, Switch
from simulator.engine.worlds.setting_set import DECLARED, Setting, SettingSet


def _field(hint: Any, setting: Setting) -> tuple[Any, object]:
    if setting.pattern:
        hint = Annotated[str, StringConstraints(pattern=setting.pattern)]
    elif setting.most is not None:
        hint = Annotated[int, Field(ge=setting.least, le=setting.most)]
    return hint if setting.default is not None else hint | None, setting.default


class _Declared(Body):
    described_by: ClassVar[type[object]] = SettingSet
    """The class whose field docstrings describe the fields in the contract."""


_fields: dict[str, Any] = {name: _field(hint, setting) for name, (hint, setting) in DECLARED.items()}
_Model: Any = create_model("_Model", __base__=_Declared, **_fields)


class Settings(_Model):
    """All settings with their defaults."""

    assumptions: dict[str, str] = Field(default_factory=dict)
    """The alternatives to activate, by assumption id. For other assumptions, the assumed behaviour applies."""


class _Assumptions(Body, extra="forbid"):
    """The alternative to activate, by assumption id."""


def _member(switch: Switch) -> Any:
    def known(name: str) -> str:
        if why := switch.why_not(name):
            raise ValueError(why)
        return name

    words = AfterValidator(known), OneOf(switch.alternatives), Field(description=switch.assumed)
    return Annotated[str, *words] | None, None


def _named(model: Body) -> dict[str, str]:
    return {name: getattr(model, name) for name in sorted(model.model_fields_set) if getattr(model, name) is not None}


@cache
def model_of(alternatives: Alternatives) -> type[Settings]:
    """Return the settings model for a service, with a field for each assumption, so that errors name the assumption."""
    members = {switch.id: _member(switch) for switch in alternatives().values()}
    assumptions = create_model("Assumptions", __base__=_Assumptions, **members)
    field: Any = Annotated[assumptions, AfterValidator(_named)], Settings.model_fields["assumptions"]
    return create_model("Settings", __base__=Settings, __doc__=Settings.__doc__, assumptions=field)
