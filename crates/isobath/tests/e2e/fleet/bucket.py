"""An S3-compatible store on a free port that checks signatures: prints address and keys as JSON. For each line that it reads it prints what is in
the bucket: the names of objects, and the rows of all Parquet files there."""

import io
import json
import os
import sys

# Before there are users: make one, its rights, its key; make the bucket.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"
os.environ.update(AWS_ACCESS_KEY_ID="first", AWS_SECRET_ACCESS_KEY="first", AWS_DEFAULT_REGION="us-east-1")

import boto3
import pyarrow.parquet
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
_, port = server.get_host_and_port()
address = f"http://127.0.0.1:{port}"
iam = boto3.client("iam", endpoint_url=address)
iam.create_user(UserName="archivist")
rights = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
iam.put_user_policy(UserName="archivist", PolicyName="all", PolicyDocument=json.dumps(rights))
key = iam.create_access_key(UserName="archivist")["AccessKey"]
boto3.client("s3", endpoint_url=address).create_bucket(Bucket="archive")
s3 = boto3.client(
    "s3", endpoint_url=address, aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"]
)
print(json.dumps({"address": address, "id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}), flush=True)
for _ in sys.stdin:
    found = s3.list_objects_v2(Bucket="archive").get("Contents", [])
    names = [one["Key"] for one in found]
    read = [pyarrow.parquet.read_table(io.BytesIO(s3.get_object(Bucket="archive", Key=name)["Body"].read())) for name in names]
    print(json.dumps({"names": names, "runs": [run for table in read for run in table["run"].to_pylist()]}), flush=True)
