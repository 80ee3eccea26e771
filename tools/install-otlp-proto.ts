// Installs the published messages of OTLP (opentelemetry-proto), whose parser refuses a field that OTLP does not know.

import { ensurePythonProgram, type PythonProgram } from './python-program.ts'

/** The Python that has them; undefined where they cannot be installed, which is an error under CI. */
export async function ensureOtlpProto(): Promise<PythonProgram[0] | undefined> {
  const program = await ensurePythonProgram({
    name: 'opentelemetry-proto',
    version: '1.45.2',
    module: 'opentelemetry.proto',
  })
  return program?.[0]
}
