// `selado`: a file that only this host's key opens. docs/protocol.md SLD.

import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { openSealed } from '../../sealing/sealed-file.ts'
import { AgeKeyDamagedError, readAgeKey } from '../identity/age-key.ts'
import { fileKind, UnusableFileError } from './file-kind.ts'

const Own = Type.Object({ kind: Type.Literal('selado'), sha256: Type.String() })

const MODE = 0o600

export const sealedKind = fileKind({
  name: 'selado',
  hookName: 'post-selado',
  records: {
    file: 'deliveredFilesFile',
    decode: (entry) => (Check(Own, entry) ? { mark: entry.sha256 } : undefined),
    encode: ({ mark }): Static<typeof Own> => ({ kind: 'selado', sha256: mark }),
  },
  contentOf: async (bytes, { ageKeyFile }) => ({
    content: await unseal(ageKeyFile, bytes),
    mode: MODE,
  }),
})

async function unseal(ageKeyFile: string, sealed: Uint8Array): Promise<Uint8Array> {
  const key = await readAgeKey(ageKeyFile).catch((error: unknown) => {
    if (error instanceof AgeKeyDamagedError) throw new UnusableFileError(error.message)
    throw error
  })
  if (key === undefined)
    throw new UnusableFileError(`${ageKeyFile} is missing, so the agent cannot open the file`)
  const opened = await openSealed(key.identity.reveal(), sealed)
  if (opened.ok) return opened.content
  throw new UnusableFileError(`${ageKeyFile} does not open the file: ${opened.reason}`)
}
