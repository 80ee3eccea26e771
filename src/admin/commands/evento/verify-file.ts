// `svc evento verify FILE`: an export of the log, or the proof of one entry, as its first bytes say.

import { createReadStream } from 'node:fs'
import { ENTRY_PROOF_LABEL } from '../../../audit/entry-proof.ts'
import type { CommandContext } from '../command-context.ts'
import { explainFile } from '../explain-file.ts'
import { readTrusted, type TrustedOptions } from './read-trusted.ts'
import { printExportVerification } from './verify-export.ts'
import { printProofVerification } from './verify-proof.ts'

export interface EventoVerifyOptions extends TrustedOptions {
  readonly json?: true
}

const READ_BYTES = 256 * 1024
const LABEL = Buffer.from(`${ENTRY_PROOF_LABEL}\n`)

export async function printVerification(
  context: CommandContext,
  file: string,
  options: EventoVerifyOptions,
): Promise<void> {
  const trusted = await readTrusted(options)
  const chunks = createReadStream(file, { highWaterMark: READ_BYTES })[Symbol.asyncIterator]()
  let begin: Uint8Array = Buffer.of()
  await explainFile(file, async () => {
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      begin = Buffer.concat([begin, next.value as Uint8Array])
      if (begin.length >= LABEL.length) break
    }
  })
  const isProof = LABEL.equals(begin.subarray(0, LABEL.length))
  const print = isProof ? printProofVerification : printExportVerification
  await print(context, again(begin, chunks), { trusted, file, json: options.json === true })
}

async function* again(
  begin: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield begin
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}
