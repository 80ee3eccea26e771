// What is answered below /console/: the page for every screen, and its assets. docs/protocol.md CON.

import { brotliDecompressSync } from 'node:zlib'
import type { PackedConsole, PackedFile } from './packed-console.ts'

export const CONSOLE_PATH = '/console/'
const ASSETS_PATH = '/console/assets/'
const PAGE = 'page.html'

export interface ConsoleAnswer {
  readonly status: 200 | 304 | 404
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

export interface ConsoleRequest {
  /** Without its query. */
  readonly path: string
  readonly acceptEncoding: string | undefined
  readonly ifNoneMatch: string | undefined
}

export type ConsoleFiles = (request: ConsoleRequest) => ConsoleAnswer

type Encoding = 'br' | 'gzip' | 'identity'

interface ServedFile {
  readonly headers: Readonly<Record<string, string>>
  readonly tag: string
  readonly bodies: Readonly<Record<Encoding, Buffer>>
}

/** Nothing but our own scripts and styles, nothing inline, no request to another origin, and no text that becomes a script. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'accept-encoding',
}
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_POLICY,
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // The page names the assets of one build: a browser asks whether it is still that one.
  'cache-control': 'no-cache',
}
/** Its name holds a hash of what is in it. */
const ASSET_HEADERS = { 'cache-control': 'public, max-age=31536000, immutable' }

export function createConsoleFiles(packed: PackedConsole): ConsoleFiles {
  const files = new Map(packed.files.map((file) => [file.name, serve(file)]))
  return ({ path, acceptEncoding, ifNoneMatch }) => {
    const name = path.startsWith(ASSETS_PATH) ? path.slice(ASSETS_PATH.length) : PAGE
    const file = files.get(name)
    if (file === undefined || (name === PAGE && path.startsWith(ASSETS_PATH))) return NOT_FOUND
    const { headers, tag, bodies } = file
    if (ifNoneMatch === tag) return { status: 304, headers, body: undefined }
    const encoding = chooseEncoding(acceptEncoding)
    const encoded = encoding === 'identity' ? headers : { ...headers, 'content-encoding': encoding }
    return { status: 200, headers: encoded, body: bodies[encoding] }
  }
}

const NOT_FOUND: ConsoleAnswer = {
  status: 404,
  headers: { ...HEADERS, 'cache-control': 'no-store' },
  body: undefined,
}

/** Where a hub runs from its source, and nobody built the console: a person who opens it is told how. */
export const NOT_BUILT: ConsoleFiles = () => ({
  status: 404,
  headers: { ...HEADERS, 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' },
  body: Buffer.from('This hub runs from its source, without the console: npm run build:console\n'),
})

function serve({ name, type, sha256, gzip, brotli }: PackedFile): ServedFile {
  const br = Buffer.from(brotli, 'base64')
  const tag = `"${sha256.slice(0, 32)}"`
  return {
    tag,
    headers: {
      ...HEADERS,
      ...(name === PAGE ? PAGE_HEADERS : ASSET_HEADERS),
      'content-type': type,
      etag: tag,
    },
    bodies: { br, gzip: Buffer.from(gzip, 'base64'), identity: brotliDecompressSync(br) },
  }
}

/** Browsers name what they take without weights; a weight of 0 says no. */
function chooseEncoding(accepted = ''): Encoding {
  const taken = new Set(
    accepted
      .toLowerCase()
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => !/;\s*q=0(?:\.0*)?$/.test(entry))
      .map((entry) => entry.split(';', 1)[0]?.trim()),
  )
  if (taken.has('br')) return 'br'
  return taken.has('gzip') ? 'gzip' : 'identity'
}
