// SVC_DATABASE_URL with the files that it names, read by who may read them: a program that root starts does it before it becomes the
// vault's owner. docs/protocol.md DBS-1 to DBS-4.

import { createSecureContext } from 'node:tls'
import { describeError, UserError } from '../platform/errors.ts'
import { Secret } from '../platform/secret.ts'
import { readSmallFile } from '../platform/small-file.ts'
import { systemRoots } from '../platform/system-roots.ts'
import { parseCertificatesPem } from '../pki/certificates.ts'
import { isSecretSet, readSecret } from './read-secret.ts'
import {
  type DatabaseTlsFiles,
  type DatabaseUrl,
  isFault,
  parseDatabaseUrl,
} from './store/postgres/database-url.ts'
import type { DatabaseServers } from './store/postgres/writable-connection.ts'

type Environment = Readonly<Record<string, string | undefined>>

const VARIABLE = 'SVC_DATABASE_URL'
const FILE_BYTES_MAX = 1024 * 1024
const OTHERS = 0o007

/** Undefined where nobody set it. Throws a UserError that names the variable. */
export function readDatabaseUrl(env: Environment): DatabaseUrl | undefined {
  if (!isSecretSet(env, VARIABLE)) return undefined
  const url = parseDatabaseUrl(readSecret(env, VARIABLE).reveal())
  if (isFault(url)) throw invalid(url.fault)
  return url
}

/** The same with what its files hold. */
export function readDatabaseServers(env: Environment): DatabaseServers | undefined {
  const url = readDatabaseUrl(env)
  return url && { ...url, tls: url.tls && readTls(url.tls) }
}

function readTls({ rootsPath, client }: DatabaseTlsFiles): DatabaseServers['tls'] {
  const rootsPem = rootsPath === undefined ? systemRoots() : readRoots(rootsPath)
  if (client === undefined) return { rootsPem }
  const certificatePem = read('sslcert', client.certificatePath).text
  const { text, stats } = read('sslkey', client.keyPath)
  if ((stats.mode & OTHERS) !== 0) {
    throw invalid(`sslkey: others may open ${client.keyPath}: chmod 600 ${client.keyPath}`)
  }
  try {
    createSecureContext({ cert: certificatePem, key: text })
  } catch (error) {
    throw invalid(`sslcert and sslkey are no pair: ${describeError(error)}`, error)
  }
  return { rootsPem, client: { certificatePem, keyPem: new Secret(text) } }
}

function readRoots(path: string): readonly string[] {
  const { text } = read('sslrootcert', path)
  let roots: readonly string[]
  try {
    roots = parseCertificatesPem(text).map(({ pem }) => pem)
  } catch (error) {
    throw invalid(`sslrootcert: a certificate in ${path} does not parse`, error)
  }
  if (roots.length === 0) throw invalid(`sslrootcert: no PEM certificate in ${path}`)
  return roots
}

function read(parameter: string, path: string): ReturnType<typeof readSmallFile> {
  try {
    return readSmallFile(path, FILE_BYTES_MAX)
  } catch (error) {
    throw invalid(`${parameter}: ${describeError(error)}`, error)
  }
}

function invalid(why: string, cause?: unknown): UserError {
  return new UserError('config_invalid', `${VARIABLE}: ${why}`, { cause })
}
