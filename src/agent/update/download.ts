// One file from a release server: bounded in size and time, over https (or from this very host), and never redirected
// to anything less.

import { describeError, UserError } from '../../platform/errors.ts'
import type { HttpConnections, HttpReply } from '../hub/http-connections.ts'
import { isLoopback } from '../settings/config.ts'

export interface DownloadOptions {
  readonly connections: HttpConnections
  readonly userAgent: string
  readonly bytesMax: number
  /** Of the whole download. */
  readonly timeoutMs: number
  /** Without any byte. */
  readonly silenceMsMax: number
  readonly onProgress?: (receivedBytes: number, totalBytes: number | undefined) => void
}

const REDIRECTS_MAX = 5
/** It will not be there in a minute either. */
const MISSING: ReadonlySet<number> = new Set([404, 410])
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export interface ReleaseFor {
  /** In Node's words. */
  readonly architecture: string
  /** Undefined where the URL is of one release as it is. */
  readonly version?: string | undefined
}

/** The base URL of a release, as a person gave it: `{arch}` in it stands for that of the host, and `{version}` for the announced one. */
export function parseReleaseUrl(
  given: string,
  { architecture, version }: ReleaseFor,
  name = '--url',
): URL {
  const named = version === undefined ? given : given.replaceAll('{version}', version)
  const text = named.replaceAll('{arch}', `linux-${architecture}`)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['https:', 'http:'].includes(url.protocol)) {
    throw new UserError('url_invalid', `${name} is not an https URL: ${text}`)
  }
  if (url.protocol === 'http:' && !isLoopback(url)) {
    throw new UserError(
      'url_invalid',
      `${name} must be https, plain http is only for loopback: ${text}`,
    )
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UserError('url_invalid', `${name} must have no credentials, query or fragment`)
  }
  return url
}

/** The URL of a file below the base URL. */
export function releaseFileUrl(base: URL, file: string): URL {
  return new URL(`${base.pathname.replace(/\/$/, '')}/${file}`, base)
}

/** Throws a UserError that names the URL. */
export async function download(url: URL, options: DownloadOptions): Promise<Buffer> {
  const signal = AbortSignal.timeout(options.timeoutMs)
  try {
    let current = url
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      const reply = await send(current, options, signal)
      if (MISSING.has(reply.statusCode)) throw missing(url, reply.statusCode)
      if (!REDIRECTS.has(reply.statusCode)) return await readReply(reply, options)
      // Its body is never read: its connection ends with the others.
      current = redirectTarget(current, reply.headers['location'])
    }
    throw new Error(`more than ${REDIRECTS_MAX} redirects`)
  } catch (error) {
    if (error instanceof UserError) throw error
    const reason = signal.aborted ? 'it took too long' : describeError(error)
    throw new UserError('download_failed', `cannot fetch ${url.href}: ${reason}`, { cause: error })
  }
}

function send(
  url: URL,
  { connections, userAgent, silenceMsMax }: DownloadOptions,
  signal: AbortSignal,
): Promise<HttpReply> {
  return connections.send({
    url,
    method: 'GET',
    signal,
    silenceMs: { headers: silenceMsMax, body: silenceMsMax },
    headers: { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' },
  })
}

function redirectTarget(from: URL, location: string | string[] | undefined): URL {
  if (typeof location !== 'string' || !URL.canParse(location, from.href)) {
    throw new Error('a redirect to nowhere')
  }
  const target = new URL(location, from)
  if (target.protocol === 'https:') return target
  throw new Error(`the agent does not follow a redirect to ${target.protocol}//`)
}

async function readReply(
  { statusCode, headers, body }: HttpReply,
  { bytesMax, onProgress }: DownloadOptions,
): Promise<Buffer> {
  if (statusCode !== 200) throw new Error(`the server answered ${statusCode}`)
  const length = headers['content-length']
  const totalBytes = typeof length === 'string' ? Number(length) : undefined
  if (totalBytes !== undefined && totalBytes > bytesMax) throw tooLong(bytesMax)
  const chunks: Buffer[] = []
  let receivedBytes = 0
  for await (const chunk of body) {
    receivedBytes += chunk.length
    if (receivedBytes > bytesMax) throw tooLong(bytesMax)
    chunks.push(chunk)
    onProgress?.(receivedBytes, totalBytes)
  }
  return Buffer.concat(chunks, receivedBytes)
}

function missing({ href }: URL, status: number): UserError {
  return new UserError('release_missing', `cannot fetch ${href}: the server answered ${status}`)
}

function tooLong(bytesMax: number): Error {
  return new Error(`it is longer than ${bytesMax} bytes`)
}
