"""The page with an editor: its requests to the engine (`verbs`), and the server of ``clusterspec edit`` (`server`).

The playground of the documentation runs `verbs` in a web worker, the server runs it in this process.
"""
