"""Names for checkers of types. Importing `typing` would take longer than all of this package."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any as Any
    from typing import overload as overload
else:
    Any = object

    def overload(call):
        """Returns the function."""
        return call
