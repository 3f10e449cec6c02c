"""A collector of OTLP over HTTP on a free port: prints the port, then each push as a line of JSON, by OpenTelemetry's own messages."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest


class Collector(BaseHTTPRequestHandler):
    def do_POST(self):
        request = ExportMetricsServiceRequest()
        request.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
        said = {"path": self.path, "kind": self.headers["Content-Type"], "key": self.headers["api-key"], "request": MessageToDict(request)}
        print(json.dumps(said), flush=True)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Collector)
print(server.server_port, flush=True)
server.serve_forever()
