"""Where a form wants to lead when it is done."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def way_back(request: HttpRequest) -> str:
    """Return the path of one of our pages that a request names as `next`; blank otherwise."""
    wanted = request.POST.get("next", request.GET.get("next", ""))
    # Without a slash before it, it may be the name of a view, or no address at all.
    is_own = wanted.startswith("/") and url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if is_own else ""
