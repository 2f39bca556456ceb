"""Stubs for modules that are not installed, so that the parsers of a target can be imported without its libraries.

Every attribute of a stub is a class that can be called, subscripted, inherited and used as a decorator.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata
import inspect
import sys
import types
import typing
from typing import Any

DEVICES = {
    "torch_npu",
    "habana_frameworks",
    "intel_extension_for_pytorch",
    "intel_extension_for_deepspeed",
    "torch_musa",
    "torch_xla",
    "tpu_info",
    "libtpu",
    "mooncake",
    "sgl_kernel_npu",
    "torchada",
}
"""Libraries of devices, whose presence the targets take for that of the device."""
ABSENT = {"npu", "musa"}
"""Attributes of torch with the same effect."""


class _Class(type(typing.Protocol)):  # type: ignore[misc]
    """The type of stubs: any attribute is a stub; called on one function, it returns the function, as a decorator."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith(("__", "_abc")):
            raise AttributeError(name)
        made = stub(name)
        setattr(cls, name, made)
        return made

    def __call__(cls, *given: Any, **named: Any) -> Any:
        if len(given) == 1 and not named and callable(given[0]) and not isinstance(given[0], _Class):
            return given[0]
        return type.__call__(cls)

    def __getitem__(cls, key: Any) -> Any:
        return cls

    def __or__(cls, other: Any) -> Any:
        return typing.Union[cls, other]  # noqa: UP007

    def __ror__(cls, other: Any) -> Any:
        return typing.Union[other, cls]  # noqa: UP007

    def __iter__(cls) -> Any:
        return iter(())

    def __len__(cls) -> int:
        return 0

    def __bool__(cls) -> bool:
        return False

    def __int__(cls) -> int:
        return 0

    def __lt__(cls, other: Any) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __contains__ = __lt__

    def __add__(cls, other: Any) -> Any:
        return other

    __radd__ = __add__


def _any_schema(cls: Any, source: Any, handler: Any) -> Any:
    from pydantic_core import core_schema  # type: ignore[import-not-found,unused-ignore]

    return core_schema.any_schema()


def _attribute(_: Any, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return stub(name)


def _decorated(self: Any, *given: Any, **named: Any) -> Any:
    return given[0] if len(given) == 1 and callable(given[0]) and not named else self


_MEMBERS: dict[str, Any] = {
    "__init__": lambda self, *given, **named: None,
    "__get_pydantic_core_schema__": classmethod(_any_schema),
    "__getattr__": _attribute,
    "__call__": _decorated,
    "__getitem__": lambda self, key: self,
    "__iter__": lambda self: iter(()),
    "__bool__": lambda self: False,
    "__enter__": lambda self: self,
    "__exit__": lambda self, *error: False,
    "__lt__": lambda self, other: False,
    "__gt__": lambda self, other: False,
    "__le__": lambda self, other: False,
    "__ge__": lambda self, other: False,
    "__eq__": lambda self, other: True,
    "__ne__": lambda self, other: False,
    "__hash__": lambda self: 0,
    "__add__": lambda self, other: other,
    "__radd__": lambda self, other: other,
    "__str__": lambda self: "0.0.0",
    "__int__": lambda self: 0,
    "__index__": lambda self: 0,
}


def stub(name: str) -> Any:
    """A class that stands for an attribute of a module that is not installed."""

    def passed_on(cls: Any, /, **named: Any) -> None:
        following = super(made, cls).__init_subclass__
        following(**named) if hasattr(following, "__func__") else following()

    made: Any = _Class(name, (), _MEMBERS | {"__init_subclass__": classmethod(passed_on)})
    return made


class Module(types.ModuleType):
    """A module of stubs."""

    __version__ = "99.0.0"

    def __init__(self, name: str, folder: str = "") -> None:
        super().__init__(name)
        self.__path__ = [folder] if folder else []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ABSENT:
            raise AttributeError(name)
        made = stub(name)
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds stubs: for the modules below ``names``; without names, for all that nothing else has found."""

    def __init__(self, own: str, names: tuple[str, ...] = ()) -> None:
        self.own, self.names = own, names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        top = name.partition(".")[0]
        held = sys.modules.get(top)
        installed = held is not None and not isinstance(held, Module)
        foreign = top not in {self.own, "dynamo"} and top not in sys.stdlib_module_names | DEVICES and not installed
        if name.startswith(self.names) if self.names else foreign:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def install(package: str, forced: tuple[str, ...] = (), bare: tuple[str, ...] = ()) -> None:
    """Find stubs for all that is not installed, and for the modules ``forced`` of ``package``.

    The packages ``bare`` are imported without their ``__init__``.
    """
    folder = sys.path[0]
    for name in bare:
        sys.modules[name] = Module(name, f"{folder}/{name.replace('.', '/')}")
    if forced:
        sys.meta_path.insert(0, _Finder(package, forced))
    sys.meta_path.append(_Finder(package))
    source = inspect.getsource

    def source_or_nothing(given: Any) -> str:
        try:
            return source(given)
        except (OSError, TypeError):
            return "class Stub:\n    pass\n"

    inspect.getsource = source_or_nothing  # type: ignore[assignment]
    version = importlib.metadata.version

    def version_or_any(name: str) -> str:
        try:
            return version(name)
        except importlib.metadata.PackageNotFoundError:
            return Module.__version__

    importlib.metadata.version = version_or_any  # type: ignore[assignment]
    if not hasattr(typing, "override"):
        typing.override = lambda given: given  # type: ignore[attr-defined,unused-ignore]
