"""Schemathesis reads each answer to its end, which a stream has none of: it gets what came first."""

from requests.adapters import HTTPAdapter

send = HTTPAdapter.send


def send_and_hang_up(self, request, **options):
    response = send(self, request, **options)
    if response.headers.get("Content-Type", "").startswith("text/event-stream"):
        response._content = next(response.iter_content(chunk_size=None), b"")
        response._content_consumed = True
        response.close()
    return response


HTTPAdapter.send = send_and_hang_up
