# vLLM on CPUs, for small models, tests and tokenizing. Build it from the root of the repository. There is no build without a digest, which
# runtimes/images/bases.json has for a release:
#
#   docker build -f runtimes/images/vllm/cpu.Dockerfile --build-arg DIGEST=sha256:... -t vllm-cpu .
ARG BASE=docker.io/vllm/vllm-openai-cpu:v0.26.0
ARG DIGEST

FROM ${BASE}@${DIGEST}
ARG BASE
ARG DIGEST
ARG VLLM=0.26.0
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="kservec-vllm-cpu" \
      org.opencontainers.image.description="vLLM on CPUs, for small models, tests and tokenizing, started by KServe's conventions" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/kservec/kservec" \
      org.opencontainers.image.base.name="${BASE}" \
      org.opencontainers.image.base.digest="${DIGEST}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      dev.kservec.vllm.version="${VLLM}"
USER 0
COPY --chmod=0644 runtimes/images/vllm/requirements/cpu.txt /opt/kservec/requirements.txt
COPY --chmod=0644 runtimes/images/vllm/arguments.json /opt/kservec/arguments.json
COPY --chmod=0755 runtimes/images/vllm/kservec-vllm /opt/kservec/kservec-vllm
COPY --chmod=0755 runtimes/images/vllm/kservec_vllm /opt/kservec/kservec_vllm
# The version that the arguments were checked against, and no other; folders that group 0 may write, whoever is in it.
RUN python3 -c "import importlib.metadata as m, sys; v = m.version('vllm').partition('+')[0]; sys.exit(v != '${VLLM}' and f'this is vLLM {v}')" \
    && python3 -m pip install --no-cache-dir --no-deps --no-compile --require-hashes -r /opt/kservec/requirements.txt \
    && ln -s /opt/kservec/kservec-vllm /usr/local/bin/kservec-vllm \
    && echo "vllm:x:2000:0:vllm:/home:/sbin/nologin" >> /etc/passwd \
    && mkdir -p /home /models \
    && chown 2000:0 /home /models \
    && chmod 0770 /home /models
ENV KSERVEC_VLLM_VARIANT=cpu \
    HOME=/home \
    USER=vllm \
    HF_HOME=/home/.cache/huggingface \
    HF_HUB_CACHE=/models \
    VLLM_CACHE_ROOT=/home/.cache/vllm \
    VLLM_CONFIG_ROOT=/home/.config/vllm \
    TRITON_CACHE_DIR=/home/.cache/triton \
    TORCHINDUCTOR_CACHE_DIR=/home/.cache/torchinductor \
    NUMBA_CACHE_DIR=/home/.cache/numba \
    OUTLINES_CACHE_DIR=/home/.cache/outlines \
    FLASHINFER_WORKSPACE_BASE=/home \
    XDG_CACHE_HOME=/home/.cache \
    XDG_CONFIG_HOME=/home/.config \
    HF_HUB_DISABLE_TELEMETRY=1 \
    DO_NOT_TRACK=1 \
    PYTHONUNBUFFERED=1
# Nothing else is written, so the root file system can be read-only.
# Any other user works as well.
USER 2000:0
WORKDIR /home
VOLUME ["/home", "/tmp", "/models"]
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30m \
    CMD ["kservec-vllm", "health"]
ENTRYPOINT ["kservec-vllm"]
