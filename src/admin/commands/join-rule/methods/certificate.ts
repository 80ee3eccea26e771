import { CA_CHARACTERS_MAX } from '../../../../protocol/admin/join-methods.ts'
import { readFrom } from '../../read-from.ts'
import type { JoinMethod } from './join-method.ts'
import { readText } from './read-text.ts'

export interface CertificateOptions {
  readonly ca?: string
}

/** Method x5c: a certificate that the host has already. */
export const certificateMethod: JoinMethod<CertificateOptions> = {
  addOptions: (command) =>
    command.option(
      '--ca <file>',
      'they show a certificate that they have already, of these CAs (PEM)',
    ),
  read: async (context, { ca }) => {
    const pem = await readFrom(context, ca, readText('--ca', 'ca_invalid', CA_CHARACTERS_MAX))
    return pem === undefined ? undefined : { method: 'x5c', x5c: { ca: pem } }
  },
  describe: ({ x5c }) => {
    if (!x5c) return {}
    const said = x5c.authorities.map(({ subject, sha256 }) => `${subject} (${sha256.slice(0, 16)})`)
    return { authorities: said.join('; ') }
  },
  help: `With --ca a host shows a certificate that it has already, and signs with its key: for fleets that another PKI knows. The certificate
has to lead to one of the CAs in the file, to be valid now, to be for a client or a server where it says what for, and to have the
hostname among its DNS names, in full: no wildcard counts. On the host, SVC_ENROLL_HOST_CERTIFICATE and SVC_ENROLL_HOST_KEY name the
files. The hub asks no CRL: end the rule when a CA is not to be trusted any more.`,
  examples: [
    `svc join-rule create moving --ca old-ca.pem --pattern '*.example.org' --role web --max-hosts 200 --ttl 30d`,
  ],
}
