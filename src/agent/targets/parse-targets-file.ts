// One `[[file]]`: its place, its content, its owner and who may read it.

import { basename, isAbsolute, normalize } from 'node:path'
import { quote, type TableReader } from './parse-targets-table.ts'
import { holdsKey, PEM_PARTS, type TargetContent, type TargetFile } from './target.ts'

const FILE_KEYS = ['path', 'content', 'format', 'password_file', 'owner', 'group', 'mode']
const PATH_BYTES_MAX = 4000
/** Room for what a staged file is called beside it. */
const NAME_BYTES_MAX = 200
/** The greatest number stands for `leave it as it is` in chown(2). */
const ACCOUNT_NUMBER_MAX = 0xffff_fffe
const ACCOUNT_NAME = /^[A-Za-z_][A-Za-z0-9_.@-]{0,254}\$?$/

/** The one word of `content` that is no part of a pair: what was delivered, byte for byte. */
const WHOLE_FILE = 'file'
const KEY_MODE = 0o600
const OPEN_MODE = 0o644

/** Undefined when something in it is wrong, which the reader then has noted. */
export function parseTargetFile(reader: TableReader, line: number): TargetFile | undefined {
  reader.refuseUnknownKeys(FILE_KEYS)
  const path = parsePath(reader, 'path')
  if (!reader.has('path')) reader.refuse('path', 'path is missing')
  const content = parseContent(reader)
  const owner = parseAccount(reader, 'owner')
  const group = parseAccount(reader, 'group')
  const mode = parseMode(reader, content)
  if (path === undefined || content === undefined || mode === undefined) return undefined
  return { path, content, owner, group, mode, line }
}

function parseContent(reader: TableReader): TargetContent | undefined {
  const format = reader.word('format', ['pkcs12'])
  const passwordFile = parsePath(reader, 'password_file')
  const content = parseParts(reader)
  if (reader.has('content') && reader.has('format')) {
    return reader.refuse(
      'format',
      'content and format are both given: use only one of them in a file',
    )
  }
  if (reader.has('content') || !reader.has('format')) {
    if (reader.has('password_file')) {
      reader.refuse('password_file', 'password_file is for format = "pkcs12"')
    }
    if (!reader.has('content')) reader.refuse('content', 'content or format is missing')
    return content
  }
  if (!reader.has('password_file')) {
    return reader.refuse('password_file', 'format = "pkcs12" needs a password_file')
  }
  if (format === undefined || passwordFile === undefined) return undefined
  return { format, passwordFile }
}

function parseParts(reader: TableReader): TargetContent | undefined {
  const names = reader.texts('content', 64)
  if (names === undefined) return undefined
  if (names.includes(WHOLE_FILE)) {
    if (names.length === 1) return { format: 'file' }
    return reader.refuse(
      'content',
      `content has "${WHOLE_FILE}" and more: "${WHOLE_FILE}" stands alone`,
    )
  }
  const parts = names.flatMap((name) => PEM_PARTS.find((part) => part === name) ?? [])
  const unknown = names.find((name) => !PEM_PARTS.some((part) => part === name))
  if (unknown !== undefined) {
    const known = PEM_PARTS.join(', ')
    const reason = `content takes any of ${known}, or "${WHOLE_FILE}" alone: ${quote(unknown)}`
    return reader.refuse('content', reason)
  }
  if (new Set(parts).size < parts.length) {
    return reader.refuse('content', 'content has the same part twice')
  }
  return { format: 'pem', parts }
}

function parsePath(reader: TableReader, key: string): string | undefined {
  const path = reader.text(key)
  if (path === undefined) return undefined
  const reason = pathRefusal(path)
  return reason === undefined ? path : reader.refuse(key, `${key} ${reason}: ${quote(path)}`)
}

function pathRefusal(path: string): string | undefined {
  if (!isAbsolute(path)) return 'must be absolute'
  if (path.endsWith('/')) return 'names a directory'
  if (normalize(path) !== path) return 'must be written without ., .. and doubled slashes'
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `is longer than ${PATH_BYTES_MAX} bytes`
  if (Buffer.byteLength(basename(path)) > NAME_BYTES_MAX) {
    return `has a file name longer than ${NAME_BYTES_MAX} bytes`
  }
  // As `/.` and `/..` are: normalising leaves them alone in no other place.
  return ['.', '..'].includes(basename(path)) ? 'names a directory' : undefined
}

function parseAccount(reader: TableReader, key: 'owner' | 'group'): string | undefined {
  const text = reader.text(key)
  if (text === undefined) return undefined
  const isNumber = /^\d{1,10}$/.test(text) && Number(text) <= ACCOUNT_NUMBER_MAX
  if (isNumber || ACCOUNT_NAME.test(text)) return text
  const noun = key === 'owner' ? 'user' : 'group'
  return reader.refuse(key, `${key} is neither a ${noun} name nor a number: ${quote(text)}`)
}

function parseMode(reader: TableReader, content: TargetContent | undefined): number | undefined {
  const hasKey = content !== undefined && holdsKey({ content })
  if (!reader.has('mode')) return hasKey || content?.format === 'file' ? KEY_MODE : OPEN_MODE
  const text = reader.text('mode')
  if (text === undefined) return undefined
  if (!/^0?[0-7]{3,4}$/.test(text)) {
    return reader.refuse('mode', `mode must be octal digits such as "0640": ${quote(text)}`)
  }
  const mode = Number.parseInt(text, 8)
  const reason = modeRefusal(mode, hasKey)
  return reason === undefined ? mode : reader.refuse('mode', `mode ${quote(text)} ${reason}`)
}

function modeRefusal(mode: number, hasKey: boolean): string | undefined {
  if ((mode & 0o7000) !== 0) return 'has setuid, setgid or sticky bits'
  if ((mode & 0o400) === 0) return 'does not let the owner read the file'
  if ((mode & 0o002) !== 0) return 'lets others write the file'
  return hasKey && (mode & 0o007) !== 0 ? 'lets others read a key' : undefined
}
