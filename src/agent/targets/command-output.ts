// The last of what a command printed, for people elsewhere: the command was just handed a key or a secret file, and may
// quote either, or a password of its own. docs/protocol.md TGT-31.

import { redactTokens } from '../../platform/redact-tokens.ts'
import { printable } from '../../platform/printable.ts'
import { parsePrivateKeyPem } from '../../pki/keys.ts'
import type { Material } from './render-content.ts'

const LINES_MAX = 20
const LINE_CHARACTERS_MAX = 200
const CHARACTERS_MAX = 2000
/** So many characters in a row that a secret has too are taken for a part of it. */
const PIECE = 6
/** A file beyond it is not compared: what its command prints stays on the host. */
const COMPARED_BYTES_MAX = 64 * 1024
const HIDDEN = '•'

const PEM_BLOCK = /-----BEGIN [^-]*-----[^]*?(?:-----END [^-]*-----|$)/g
/** The end of a block that began before what is left of the output. */
const PEM_REST = /^[^]*?-----END [^-]*-----/
const TERMINAL_SEQUENCE =
  // oxlint-disable-next-line no-control-regex -- They are what it is about.
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]+[0-~]|[@-Z\\^_])/g
/** Its scheme is a word of its own, and what follows may be several. */
const AUTHORIZATION = /(authorization["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\r\n"']+)/gi
const NAMED_SECRET =
  /(pass(?:word|wd|phrase)?|secret|token|api[-_]?key|credential|authorization|bearer|basic)(["']?\s*[:=]\s*|\s+)(?:(?:bearer|basic)\s+)?("[^"]*"|'[^']*'|[^\s"',;]+)/gi
/** What openssl, xxd and od print of a key: more groups than a time or an address has. */
const DUMP = /(?:\b[0-9a-f]{2,8}[\s:]+){7,}[0-9a-f]{2,8}\b/gi
const URL_CREDENTIALS = /(:\/\/)[^\s/@]+@/g

/** What a command was handed, or stood there before: nothing of it may leave the host. */
export interface HiddenFromOutput {
  readonly material: Material
  /** Files with keys, or sealed files, as they were before. */
  readonly former: readonly Uint8Array[]
  /** Of PKCS#12 files. */
  readonly passwords: readonly string[]
}

/** Empty when nothing of it may leave the host. */
export function describeOutput(output: string, hidden: HiddenFromOutput): string {
  const secrets = secretsOf(hidden)
  if (secrets === undefined) return ''
  // First: colours would stand between the parts of what is looked for.
  const plain = output.replaceAll(TERMINAL_SEQUENCE, '')
  const lines = hidePieces(withoutNamedSecrets(withoutBlocks(plain)), secrets)
    .split(/\r\n|[\n\r]/)
    .map((line) => printable(cut(line.trimEnd())))
    .filter((line) => line !== '')
  const last: string[] = []
  let room = CHARACTERS_MAX
  for (const line of lines.slice(-LINES_MAX).toReversed()) {
    room -= line.length + 1
    if (room < 0) break
    last.unshift(line)
  }
  return last.join('\n')
}

function withoutBlocks(output: string): string {
  const whole = output.replaceAll(PEM_BLOCK, '[a PEM block]')
  return whole.replace(PEM_REST, '[a PEM block]').replaceAll(DUMP, '[a dump]')
}

function withoutNamedSecrets(text: string): string {
  return redactTokens(text)
    .replaceAll(URL_CREDENTIALS, `$1${HIDDEN}@`)
    .replaceAll(AUTHORIZATION, `$1${HIDDEN}`)
    .replaceAll(NAMED_SECRET, `$1$2${HIDDEN}`)
}

/** Undefined when it is too long to be looked for. */
function secretsOf({ material, former, passwords }: HiddenFromOutput): string[] | undefined {
  const files = 'content' in material ? [material.content, ...former] : former
  if (files.some(({ length }) => length > COMPARED_BYTES_MAX)) return undefined
  const texts = [...files.map((content) => Buffer.from(content).toString('utf8')), ...passwords]
  return 'content' in material ? texts : [...texts, ...spellingsOf(material.keyPem)]
}

function spellingsOf(keyPem: string): string[] {
  const { keyObject } = parsePrivateKeyPem(keyPem)
  const der = keyObject.export({ type: 'pkcs8', format: 'der' })
  const hex = der.toString('hex')
  // Base64 of any part of the key, from wherever in a group of three bytes it was begun.
  const base64 = [0, 1, 2].map((offset) => der.subarray(offset).toString('base64'))
  return [...base64, ...base64.map(urlSafe), hex, hex.toUpperCase()]
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_')
}

function hidePieces(text: string, secrets: readonly string[]): string {
  const whole = secrets.reduce(
    (shown, secret) =>
      secret.length > 0 && secret.length < PIECE ? shown.replaceAll(secret, HIDDEN) : shown,
    text,
  )
  const pieces = new Set<string>()
  const wanted = new Set<string>()
  for (let at = 0; at + PIECE <= whole.length; at += 1) wanted.add(whole.slice(at, at + PIECE))
  for (const secret of secrets) {
    for (let at = 0; at + PIECE <= secret.length; at += 1) {
      const piece = secret.slice(at, at + PIECE)
      if (wanted.has(piece) && piece.trim() !== '') pieces.add(piece)
    }
  }
  return blank(whole, pieces)
}

function blank(text: string, pieces: ReadonlySet<string>): string {
  let shown = ''
  let hiddenUntil = 0
  for (let at = 0; at < text.length; at += 1) {
    if (pieces.has(text.slice(at, at + PIECE))) hiddenUntil = at + PIECE
    const character = text[at] ?? ''
    const isHidden = at < hiddenUntil && character !== '\n'
    shown += isHidden ? HIDDEN : character
  }
  return shown.replaceAll(/•+/g, HIDDEN)
}

function cut(line: string): string {
  return line.length <= LINE_CHARACTERS_MAX ? line : `${line.slice(0, LINE_CHARACTERS_MAX - 1)}…`
}
