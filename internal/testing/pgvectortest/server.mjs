// Serves PostgreSQL with pgvector on a local socket, in memory. It prints its port when ready, and ends with its standard input.
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

const db = await PGlite.create({ extensions: { vector } });
const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0, maxConnections: 200 });
server.addEventListener("listening", (event) => console.log(event.detail.port));
await server.start();
process.stdin.on("end", () => process.exit(0)).resume();
