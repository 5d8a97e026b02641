"""The independent check of released tables.

`shoal.verify(release, ...)` is the public function and `shoal.verify` also this folder. So that the call works whether
or not something has already been imported from here, the folder itself can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallableFolder(ModuleType):
    def __call__(self, release: Any, **options: Any) -> Any:
        from shoal.verification import verify

        return verify(release, **options)


sys.modules[__name__].__class__ = _CallableFolder
