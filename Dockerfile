# Builds winnow and runs its quickstart: docker build -t winnow . && docker run --rm -v "$PWD/out:/work" winnow
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go build -trimpath -ldflags "-s -w" -o /winnow ./cmd/winnow

# npm fetches ONNX Runtime's library, which stays in the image; the last stage has no npm.
FROM node:22-bookworm-slim AS runtime
COPY --from=build /winnow /usr/local/bin/winnow
ENV XDG_CACHE_HOME=/opt
RUN winnow runtime install

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates libstdc++6 && rm -rf /var/lib/apt/lists/*
COPY --from=build /winnow /usr/local/bin/winnow
COPY --from=runtime /opt /opt
ENV XDG_CACHE_HOME=/opt
WORKDIR /work
ENTRYPOINT ["winnow"]
CMD ["quickstart"]
