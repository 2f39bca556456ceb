"""Serving layouts as a vLLM command line."""

from __future__ import annotations

from clusterspec.exchange.exporters.export_input import ExportedFile, ExportInput, NotExportable

_PRECISIONS = {
    "fp8": "fp8",
    "mxfp4": "mxfp4",
    "nvfp4": "modelopt_fp4",
    "int8": "w8a8_int8",
    "int4": "awq",
    "mxfp8": "mxfp8",
}


def vllm(source: ExportInput) -> ExportedFile:
    """The ``vllm serve`` command of one replica, with its degrees and limits."""
    work, layout = source.workload, source.layout
    if work.kind != "serve":
        raise NotExportable("the workload is training; this format is for serving")
    words = [f"vllm serve {work.model.id or 'MODEL'}", f"--tensor-parallel-size {layout.tp}"]
    if layout.pp > 1:
        words.append(f"--pipeline-parallel-size {layout.pp}")
    if layout.attention_dp > 1:
        words.append(f"--data-parallel-size {layout.attention_dp}")
    if layout.ep > 1:
        words.append("--enable-expert-parallel")
    serving = work.serving
    if serving is not None:
        words.append(f"--max-model-len {serving.input_tokens + serving.output_tokens}")
        words += [f"--max-num-seqs {serving.max_sequences}"] if serving.max_sequences else []
        words += [f"--max-num-batched-tokens {serving.chunk_tokens}"] if serving.chunk_tokens else []
        words.append(f"--gpu-memory-utilization {serving.memory_fraction:g}")
        words += [] if serving.captured_graphs else ["--enforce-eager"]
        if serving.draft_tokens:
            words.append(f"--speculative-config '{{\"num_speculative_tokens\": {serving.draft_tokens}}}'")
    if work.kv_precision == "fp8":
        words.append("--kv-cache-dtype fp8")
    if method := _PRECISIONS.get(work.parameter_precision):
        words.append(f"--quantization {method}")
    omitted = [f"{layout.dp} replicas: run this command once per replica, behind a router"] if layout.dp > 1 else []
    if serving is not None and serving.prefill is not None:
        omitted.append("separate engines for prefill and decode: launch each separately")
    head = f"# {source.name}: {layout.ranks} ranks on {layout.nodes} nodes\n"
    return ExportedFile(head + " \\\n  ".join(words) + "\n", tuple(omitted))
