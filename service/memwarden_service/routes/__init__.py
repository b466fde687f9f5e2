"""The routes: each knows its caller first, then asks one use case, then shows the answer."""
