// Secrets among the settings: each comes as NAME, or in the file of NAME_FILE. docs/protocol.md ENV-16.

import { readFileSync } from 'node:fs'
import { UserError, describeError } from '../platform/errors.ts'
import { Secret } from '../platform/secret.ts'

type Environment = Readonly<Record<string, string | undefined>>

export function isSecretSet(env: Environment, name: string): boolean {
  return (env[name] ?? '') !== '' || (env[`${name}_FILE`] ?? '') !== ''
}

/** The secret itself or the content of the file that NAME_FILE names, without its final line break. */
export function readSecret(env: Environment, name: string): Secret<string> {
  const inline = env[name]
  if (inline !== undefined && inline !== '') return new Secret(inline)
  const path = env[`${name}_FILE`]
  if (path === undefined || path === '') throw new UserError('config_missing', `${name} required`)
  try {
    return new Secret(readFileSync(path, 'utf8').replace(/\r?\n$/, ''))
  } catch (error) {
    const reason = describeError(error)
    // Not every message of the system names it.
    const where = reason.includes(path) ? '' : `${path}: `
    throw new UserError('config_invalid', `${name}_FILE: ${where}${reason}`, { cause: error })
  }
}
