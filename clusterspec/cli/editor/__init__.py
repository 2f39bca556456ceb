"""The page with an editor: what it asks of the engine (`verbs`), and the server of ``clusterspec edit`` (`server`).

The playground of the documentation runs `verbs` in a web worker, the server runs it in this process.
"""
