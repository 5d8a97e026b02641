"""Records to chart specs (Vega-Lite as plain dicts), the offline script that draws them, and PNG/SVG export."""
