"""h2's connection as mitmproxy has it, with what it lacks: it continues after a GOAWAY, and counts frames.

What a server sent before it broke the protocol counts. A server that does not speak HTTP/2 is known by its first bytes.
"""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

from typing import Any, override

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.stream
from hyperframe.frame import HeadersFrame, SettingsFrame
from mitmproxy.connection import Connection
from mitmproxy.proxy.layers.http._http_h2 import BufferedH2Connection

from ..capture.pieces import note_pieces
from .pauses import WINDOW

_OF_HEADERS = 20
"""A frame that begins a request or an answer counts as so many others: it takes about a millisecond to handle."""
_TABLE = 4096
"""Bytes of the header fields that are remembered for shorter ones. A longer table is of little use, and each field is
searched in all of it."""
_FRAME_HEAD = 9
_BEGINNING = 40
"""Bytes of a frame: its head (RFC 9113, 4.1), and what is quoted of a server that does not speak HTTP/2."""
_OF_ANSWER = (
    h2.events.InformationalResponseReceived
    | h2.events.ResponseReceived
    | h2.events.DataReceived
    | h2.events.TrailersReceived
    | h2.events.StreamEnded
    | h2.events.StreamReset
)


class PatientConnection(BufferedH2Connection):
    """A connection that continues after a GOAWAY, for the streams that are still answered.

    It counts the frames of `connection`, so that a flood of them is read in small parts.
    """

    def __init__(self, config: h2.config.H2Configuration, connection: Connection) -> None:
        super().__init__(config)
        self._counted = connection
        self._came: list[h2.events.Event] = []
        """What was received in the read that is handled."""
        self._has_begun = not config.client_side
        self.local_settings.initial_window_size = WINDOW
        self.local_settings.acknowledge()
        self.unread: dict[int, int] = {}
        """Streams that the other side of the proxy cannot take now, and how many bytes of each are not acknowledged."""

    def pause(self, stream_id: int) -> None:
        """Open the window of a stream no further."""
        self.unread.setdefault(stream_id, 0)

    def resume(self, stream_id: int) -> None:
        """Open it again, by what came meanwhile. Without a pause this has no effect."""
        size = self.unread.pop(stream_id, 0)
        if size and self.state_machine.state is not h2.connection.ConnectionState.CLOSED:
            self.acknowledge_received_data(size, stream_id)

    @override
    def send_data(self, stream_id: int, data: bytes, end_stream: bool = False, pad_length: None = None) -> None:
        """Send data, in several frames if there is much; the last one may end the stream."""
        most = self.max_outbound_frame_size
        last = max(len(data) - 1, 0) // most * most
        if last and not self.stream_buffers.get(stream_id) and last <= self.local_flow_control_window(stream_id):
            self._send_full_frames(stream_id, memoryview(data)[:last], most)
        else:
            for start in range(0, last, most):
                super().send_data(stream_id, data[start : start + most])
        super().send_data(stream_id, data[last:] if last else data, end_stream)

    def _send_full_frames(self, stream_id: int, data: memoryview, most: int) -> None:
        """As h2's `send_data` for each frame, 4.3.0, which takes as long for 16 KB as for a small request."""
        stream = self.streams[stream_id]
        self.state_machine.process_input(h2.connection.ConnectionInputs.SEND_DATA)
        stream.state_machine.process_input(h2.stream.StreamInputs.SEND_DATA)
        head = most.to_bytes(3) + b"\0\0" + stream_id.to_bytes(4)  # DATA, without flags: RFC 9113, 4.1 and 6.1
        for start in range(0, len(data), most):
            self._data_to_send += head
            self._data_to_send += data[start : start + most]
        stream.outbound_flow_control_window -= len(data)
        self.outbound_flow_control_window -= len(data)

    @override
    def acknowledge_received_data(self, acknowledged_size: int, stream_id: int) -> None:
        if stream_id in self.unread:
            self.unread[stream_id] += acknowledged_size
        elif self.state_machine.state is not h2.connection.ConnectionState.CLOSED:
            super().acknowledge_received_data(acknowledged_size, stream_id)

    @override
    def receive_data(self, data: bytes) -> Any:
        """As mitmproxy's. What a server sent before it broke the protocol counts; the error is the last event."""
        self._came = []
        try:
            received = super().receive_data(data)
            self._look_at_next()
        except h2.exceptions.ProtocolError as exc:
            if not self.config.client_side:
                raise
            return [*(event for event in self._came if isinstance(event, _OF_ANSWER)), _in_words(exc)]
        return received

    def _look_at_next(self) -> None:
        """Look at the head of a frame that is not whole: of what is not HTTP/2, the rest may never come."""
        head = bytes(self.incoming_buffer._data[:_BEGINNING])
        if len(head) < _FRAME_HEAD:
            return
        size, code = int.from_bytes(head[:3]), h2.errors.ErrorCodes.PROTOCOL_ERROR
        if not self._has_begun and head[3] != SettingsFrame.type:
            error = h2.exceptions.ProtocolError(f"the first frame of the server is not SETTINGS: {head!r}")
        elif size > self.max_inbound_frame_size:
            error = h2.exceptions.FrameTooLargeError(f"a frame of {size} bytes, {self.max_inbound_frame_size} at most")
            code = error.error_code
        else:
            return
        self._terminate_connection(code)
        raise error

    @override
    def _receive_frame(self, frame: Any) -> Any:
        note_pieces(self._counted, _OF_HEADERS if isinstance(frame, HeadersFrame) else 1)
        if not self._has_begun and not isinstance(frame, SettingsFrame):
            raise h2.exceptions.ProtocolError(f"the first frame of the server is not SETTINGS: {type(frame).__name__}")
        self._has_begun = True
        received = super()._receive_frame(frame)
        self._came += received
        return received

    @override
    def _receive_settings_frame(self, frame: Any) -> Any:
        answer = super()._receive_settings_frame(frame)
        # The other side says how long the table may be; ours need not be so long (RFC 7541, 4.2).
        if self.encoder.header_table_size > _TABLE:
            self.encoder.header_table_size = _TABLE
        return answer

    @override
    def _receive_goaway_frame(self, frame: Any) -> Any:
        before = self.state_machine.state
        answer = super()._receive_goaway_frame(frame)
        self.state_machine.state = before
        return answer


def _in_words(error: h2.exceptions.ProtocolError) -> h2.exceptions.ProtocolError:
    """An error whose text is the number of a stream, with a sentence in its place."""
    if not isinstance(error, h2.exceptions.NoSuchStreamError):
        return error
    return h2.exceptions.ProtocolError(f"the server sent a frame for stream {error.stream_id}, which is not open")
