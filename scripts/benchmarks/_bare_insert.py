"""The other side of the write benchmark: FastAPI and psycopg, one insert, no governance at all."""

import asyncio
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from uuid6 import uuid7

CONNECTIONS = 10
INSERT = (
    "insert into public.bare (workspace_id, id, domain, content, source, confidence) values (%s, %s, %s, %s, %s, %s)"
)
WORKSPACE = UUID(int=1)


class Row(BaseModel):
    """The same row."""

    domain: str
    content: str
    source: str
    confidence: float


def build(url: str) -> FastAPI:
    """Return the application."""
    app = FastAPI()
    free: asyncio.Queue[psycopg.AsyncConnection[Any]] = asyncio.Queue()

    @app.post("/", status_code=201)
    async def insert(row: Row) -> dict[str, str]:
        while free.qsize() == 0 and len(opened) < CONNECTIONS:
            opened.append(1)
            free.put_nowait(await psycopg.AsyncConnection.connect(url))
        connection = await free.get()
        made = uuid7()
        await connection.execute(INSERT, (WORKSPACE, made, row.domain, row.content, row.source, row.confidence))
        await connection.commit()
        free.put_nowait(connection)
        return {"id": str(made)}

    opened: list[int] = []
    return app


if __name__ == "__main__":
    uvicorn.run(
        build(Path(sys.argv[1]).read_text()),
        port=int(sys.argv[2]),
        access_log=False,
        log_level="warning",
        loop="uvloop",
    )
