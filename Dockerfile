# An image of Bookflow for your own PostgreSQL. Set DATABASE_URL and SECRET_KEY. compose.yaml runs both together.
ARG NODE_VERSION=26.10.0

FROM node:${NODE_VERSION}-slim AS browser-files
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY scripts scripts
COPY src src
RUN npm run build

# The image has its own Node, and PostgreSQL runs elsewhere, so the packages for both are left out.
FROM node:${NODE_VERSION}-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional

FROM node:${NODE_VERSION}-slim
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=browser-files /app/dist dist
COPY package.json ./
COPY migrations migrations
COPY src/contract src/contract
COPY src/server src/server
# What is served at /docs.
COPY docs docs
COPY sdk/examples sdk/examples
COPY ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md Dockerfile compose.yaml .env.example ./
# A process with ROLE=worker serves /healthz on WORKER_PORT, all others on PORT.
ENV HOST=0.0.0.0 PORT=3000 WORKER_PORT=3000
EXPOSE 3000
USER node
HEALTHCHECK --interval=15s --timeout=3s --start-period=40s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:3000/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=16", "--heap-growing-percent=50", "src/server/main.ts"]
