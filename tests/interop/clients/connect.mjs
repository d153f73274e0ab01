// Calls a method over Connect and over gRPC-Web, and prints how each client reports the denial: code, Retry-After and details.
import { create, createFileRegistry } from '@bufbuild/protobuf';
import { EmptySchema, FileDescriptorProtoSchema, FileDescriptorSetSchema, file_google_protobuf_empty } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-web';

const empty = `.${EmptySchema.typeName}`;
const file = create(FileDescriptorProtoSchema, {
  name: 'greeter.proto',
  syntax: 'proto3',
  dependency: ['google/protobuf/empty.proto'],
  service: [{ name: 'Greeter', method: [{ name: 'SayHello', inputType: empty, outputType: empty }] }],
});
const files = create(FileDescriptorSetSchema, { file: [file_google_protobuf_empty.proto, file] });
const Greeter = createFileRegistry(files).getService('Greeter');

const baseUrl = process.argv.at(-1);
for (const transport of [createConnectTransport({ baseUrl }), createGrpcWebTransport({ baseUrl })]) {
  try {
    await createClient(Greeter, transport).sayHello({});
    console.log('admitted');
  } catch (error) {
    const { code, metadata, details } = ConnectError.from(error);
    console.log(Code[code], metadata.get('retry-after'), details.length);
  }
}
