"""The program that a vLLM image of this project starts with: KServe's conventions in, `vllm serve` out.

It needs nothing but Python, and nothing of the compiler. Each module decides one thing; `plan` is the order of them.
"""
