"""The two loops that carry out flows. Everything else in this package knows nothing of either."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from typing import Any, Callable, TypeVar, cast

import anyio  # which httpx is built on
import httpx

from ._steps import Chunk, Emit, Flow, Open, Send, Sleep, Step, Walk

T = TypeVar("T")


class Runner:
    """Carries out flows by blocking."""

    def __init__(self, http: httpx.Client, sleep: Callable[[float], None] = time.sleep) -> None:
        self.http = http
        self.sleep = sleep

    def run(self, flow: Flow[T]) -> T:
        """What the flow returns."""
        walk = Walk(flow)
        for _ in self._walk(walk):
            pass
        return cast(T, walk.value)

    def iterate(self, flow: Flow[None]) -> Iterator[Any]:
        """What the flow emits."""
        return self._walk(Walk(flow))

    def _walk(self, walk: Walk) -> Iterator[Any]:
        stream = _Stream()
        try:
            step = walk.step()
            while step is not None:
                if isinstance(step, Emit):
                    yield step.item
                    step = walk.step()
                    continue
                try:
                    came = self._perform(step, stream)
                except Exception as error:
                    step = walk.fail(error)
                else:
                    step = walk.step(came)
        finally:
            walk.close()
            stream.close()

    def _perform(self, step: Step, stream: _Stream) -> Any:
        if isinstance(step, Send):
            return self.http.send(step.request)
        if isinstance(step, Open):
            stream.close()
            response = self.http.send(step.request, stream=True)
            stream.open(response)
            if not response.is_success:
                response.read()
            return response
        if isinstance(step, Chunk):
            return stream.chunk()
        if isinstance(step, Sleep):
            self.sleep(step.seconds)
        return None


class _Stream:
    """The stream a flow has open, if any."""

    response: httpx.Response | None = None

    def open(self, response: httpx.Response) -> None:
        self.response = response
        self._chunks = response.iter_bytes()

    def chunk(self) -> bytes:
        return next(self._chunks, b"")

    def close(self) -> None:
        if self.response is not None:
            self.response.close()
            self.response = None


class AsyncRunner:
    """Carries out flows by awaiting, on asyncio and on trio."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self.http = http
        self.sleep = sleep

    async def run(self, flow: Flow[T]) -> T:
        """What the flow returns."""
        walk = Walk(flow)
        async for _ in self._walk(walk):
            pass
        return cast(T, walk.value)

    def iterate(self, flow: Flow[None]) -> AsyncIterator[Any]:
        """What the flow emits."""
        return self._walk(Walk(flow))

    async def _walk(self, walk: Walk) -> AsyncIterator[Any]:
        stream = _AsyncStream()
        try:
            step = walk.step()
            while step is not None:
                if isinstance(step, Emit):
                    yield step.item
                    step = walk.step()
                    continue
                try:
                    came = await self._perform(step, stream)
                except Exception as error:
                    step = walk.fail(error)
                else:
                    step = walk.step(came)
        finally:
            walk.close()
            await stream.close()

    async def _perform(self, step: Step, stream: _AsyncStream) -> Any:
        if isinstance(step, Send):
            return await self.http.send(step.request)
        if isinstance(step, Open):
            await stream.close()
            response = await self.http.send(step.request, stream=True)
            stream.open(response)
            if not response.is_success:
                await response.aread()
            return response
        if isinstance(step, Chunk):
            return await stream.chunk()
        if isinstance(step, Sleep):
            await self.sleep(step.seconds)
        return None


class _AsyncStream:
    """The stream a flow has open, if any."""

    response: httpx.Response | None = None

    def open(self, response: httpx.Response) -> None:
        self.response = response
        self._chunks = response.aiter_bytes().__aiter__()

    async def chunk(self) -> bytes:
        try:
            return await self._chunks.__anext__()
        except StopAsyncIteration:
            return b""

    async def close(self) -> None:
        if self.response is not None:
            await self.response.aclose()
            self.response = None
