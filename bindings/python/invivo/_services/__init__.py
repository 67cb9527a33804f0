"""Parts of a runtime: configuration, documents, pools, scopes, views, reports."""
