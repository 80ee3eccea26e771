// `push`: a file that is no secret, with the mode that the hub gives. docs/protocol.md PSH.

import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { FILE_MODE_DEFAULT } from '../../protocol/file-mode.ts'
import { fileKind } from './file-kind.ts'

const Own = Type.Object({
  kind: Type.Literal('push'),
  sha256: Type.String(),
  mode: Type.Integer({ minimum: 0, maximum: 0o777 }),
})

export const pushKind = fileKind({
  name: 'push',
  hookName: 'post-push',
  records: {
    file: 'pushedFilesFile',
    decode: (entry) => (Check(Own, entry) ? { mark: entry.sha256, mode: entry.mode } : undefined),
    encode: ({ mark, mode = FILE_MODE_DEFAULT }): Static<typeof Own> => ({
      kind: 'push',
      sha256: mark,
      mode,
    }),
  },
  contentOf: (content, _context, { mode = FILE_MODE_DEFAULT }) =>
    Promise.resolve({ content, mode }),
})
