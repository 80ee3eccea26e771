import { X509Certificate } from 'node:crypto'
import { readEndorsement } from '../tpm/tpm.ts'
import { withTpmTools } from '../tpm/tpm-tools.ts'
import { type Environment, print, startCommand } from './context.ts'

/** The line that a list of TPMs has of this host. The rights are the caller's, who may be root on a host without an agent's user. */
export async function runTpm(env: Environment, options: { json: boolean }): Promise<void> {
  const { config } = await startCommand('tpm', env, { keepsRights: true })
  const { sha256, certificate } = await withTpmTools(env, readEndorsement)
  const { hostname = null } = config
  const maker = certificate === undefined ? null : describeMaker(certificate)
  const line = [sha256, ...(hostname === null ? [] : [hostname])].join(' ')
  const said = maker === null ? 'no certificate of its maker' : `certificate of ${maker}`
  await print({ ek_sha256: sha256, hostname, maker }, options, `${line}  # ${said}`)
}

/** In one line; who the maker is decides nothing here. */
function describeMaker(certificate: Buffer): string {
  try {
    return new X509Certificate(certificate).issuer.replaceAll('\n', ', ')
  } catch {
    return 'an issuer that cannot be read'
  }
}
