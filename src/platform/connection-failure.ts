import { describeError, errnoCode } from './errors.ts'

/** What kept a client from an answer, as far as the system or TLS says. */
export type ConnectionFailure =
  | 'untrusted'
  | 'wrong_root'
  | 'other_names'
  | 'clock'
  | 'no_tls'
  | 'tls_refused'
  | 'unreachable'
  | 'timeout'
  | 'broken'

const BY_CODE: ReadonlyMap<string, ConnectionFailure> = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'untrusted'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'untrusted'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'untrusted'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'untrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'untrusted'],
  ['CERT_SIGNATURE_FAILURE', 'untrusted'],
  ['ERR_WRONG_ROOT', 'wrong_root'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'other_names'],
  ['CERT_HAS_EXPIRED', 'clock'],
  ['CERT_NOT_YET_VALID', 'clock'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'no_tls'],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'no_tls'],
  ['EPROTO', 'tls_refused'],
  ['EAI_AGAIN', 'unreachable'],
  ['ECONNREFUSED', 'unreachable'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENETUNREACH', 'unreachable'],
  ['ENOTFOUND', 'unreachable'],
  ['ETIMEDOUT', 'unreachable'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'timeout'],
])

/** What OpenSSL says where Node has no code for it: a request was written before the handshake had ended. */
const REASON_IN_MESSAGE = /:SSL routines:[^:]*:([^:]+):/
const REASONS_WITHOUT_TLS: ReadonlySet<string> = new Set([
  'wrong version number',
  'packet length too long',
])

export function classifyConnectionFailure(error: unknown): ConnectionFailure {
  const code = errnoCode(error) ?? ''
  if (code === 'EPROTO' && REASONS_WITHOUT_TLS.has(opensslReasonOf(error) ?? '')) return 'no_tls'
  const known = BY_CODE.get(code)
  if (known !== undefined) return known
  if (code.startsWith('ERR_SSL_')) return 'tls_refused'
  const isTimeout =
    error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')
  return isTimeout ? 'timeout' : 'broken'
}

/** In a few words: OpenSSL's own are lines that name its source files. */
export function describeConnectionFailure(error: unknown): string {
  const name = describeNameFailure(error)
  if (name !== undefined) return name
  const failure = classifyConnectionFailure(error)
  if (failure === 'no_tls') return 'it does not speak TLS'
  if (failure === 'other_names') return describeOtherNames(error)
  if (failure !== 'tls_refused') return describeError(error)
  const reason = opensslReasonOf(error)
  return reason === undefined ? describeError(error) : `TLS: ${reason}`
}

/** `getaddrinfo ENOTFOUND` and its kin. */
function describeNameFailure(error: unknown): string | undefined {
  const { hostname } = error as { hostname?: unknown }
  const host = typeof hostname === 'string' ? hostname : 'the host'
  switch (errnoCode(error)) {
    case 'ENOTFOUND':
      return `DNS knows no address of ${host}`
    case 'EAI_AGAIN':
      return `no name server answers for ${host}`
    default:
      return undefined
  }
}

/** Node names those of the same kind alone: for an address it leaves out the DNS names, which tell what to ask for. */
function describeOtherNames(error: unknown): string {
  const { host, cert } = error as { host?: unknown; cert?: { subjectaltname?: unknown } }
  const listed = cert?.subjectaltname
  if (typeof host !== 'string' || typeof listed !== 'string') return describeError(error)
  const names = listed.split(', ').map((name) => name.replace(/^[^:]+:/, ''))
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : ''
  return `its certificate is for ${names.slice(0, NAMES_SHOWN).join(', ')}${more}, not for ${host}`
}

const NAMES_SHOWN = 8

function opensslReasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { reason, message } = error as Error & { reason?: unknown }
  return typeof reason === 'string' ? reason : REASON_IN_MESSAGE.exec(message)?.[1]
}
