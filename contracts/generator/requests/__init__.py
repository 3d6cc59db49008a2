"""Request bodies: one flat object, or one union told apart by a member, for every operation.

`flat` makes it from the rooms' models, `fields` says which codes its text fields take, and `conditions` which of them
go together: what is well-formed and still refused because it does not is in the strict contract only.
"""

from __future__ import annotations
