"""Running modules from the server's side: units, proxy, tools, interfaces, `/api/{module}`."""
