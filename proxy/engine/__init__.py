"""mitmproxy embedded: the recorder addon, routing, upstream proxies and certificates."""

from turntape.cassettes.lean_package import prepare

# It imports all of mitmproxy's addons, and with them Flask and ldap3: a third of the time of a start, and 15 MB.
prepare("mitmproxy.addons")
