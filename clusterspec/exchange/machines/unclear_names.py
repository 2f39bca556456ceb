"""Names of accelerators that sites and services choose, and the accelerators of the catalog that they may mean."""

from __future__ import annotations

from clusterspec.catalog.series_names import accelerators_named

_MOST_LISTED = 6


def unclear_name(name: str, chosen_by: str = "site") -> str:
    """Why a name that a site or a service chooses sets no accelerator, with those of the catalog that it may mean.

    >>> unclear_name("mi300x")
    'a name of the site: it does not tell the form and the memory of the product; in the catalog: mi300x'
    >>> unclear_name("big", "service")
    'a name of the service: it does not tell the form and the memory of the product'
    """
    found = accelerators_named(name.rpartition("=")[2])
    more = ", …" if len(found) > _MOST_LISTED else ""
    meant = f"; in the catalog: {', '.join(found[:_MOST_LISTED])}{more}" if found else ""
    return f"a name of the {chosen_by}: it does not tell the form and the memory of the product{meant}"
