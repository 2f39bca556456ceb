"""Writers: one result as text, JSON, SARIF, HTML or PDF."""
