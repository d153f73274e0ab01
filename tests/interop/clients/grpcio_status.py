# Calls a health service until it is denied, and prints the details of the status: its code, the delay of RetryInfo, and the
# violations of QuotaFailure.
import sys

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

channel = grpc.insecure_channel(sys.argv[-1].removeprefix("http://"))
check = channel.unary_unary("/grpc.health.v1.Health/Check")
try:
    while True:
        check(b"")
except grpc.RpcError as error:
    # Fails if the code or the message differ from those in the headers.
    status = rpc_status.from_call(error)

print(status.code)
for detail in status.details:
    for kind in (error_details_pb2.RetryInfo, error_details_pb2.QuotaFailure):
        message = kind()
        if detail.Unpack(message):
            if kind is error_details_pb2.RetryInfo:
                print("retry", message.retry_delay.ToJsonString())
            for violation in getattr(message, "violations", []):
                print(violation.subject, "|", violation.description)
