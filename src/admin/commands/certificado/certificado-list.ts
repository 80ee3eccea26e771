import { Option } from 'commander'
import {
  type AdminCertificate,
  CERTIFICATE_STATES,
  type CertificateState,
} from '../../../protocol/admin/certificados.ts'
import { flagOf } from '../../../protocol/spoken-words.ts'
import { stateWord } from '../../terminal/table.ts'
import { listCommand, type ListOptions } from '../list-command.ts'
import { shortTime } from '../short-time.ts'

interface CertificadoListOptions extends ListOptions {
  readonly estado?: CertificateState
  readonly agente?: string
  readonly endsBefore?: string
}

const ABOUT = `\
The identity that each host uses, and the newest certificate of each delivery that it has installed; the first to end comes first.
Of a renewing certificate the agent is expected to ask for the next one about now; late is what it should have renewed already.

  svc certificate list --state late
  svc certificate list --agent web-1.example.org
  svc certificate list --ends-before 2026-12-01T08:00:00Z`

export const registerCertificadoList = listCommand<'certificados', AdminCertificate>({
  description: 'list the certificates in use, the first to end first',
  about: ABOUT,
  plural: 'certificados',
  ask: (operations, page, options) => {
    const { estado, agente, endsBefore } = options as CertificadoListOptions
    return operations.listCertificates({
      ...page,
      ...(estado !== undefined && { state: estado }),
      ...(agente !== undefined && { agente }),
      ...(endsBefore !== undefined && { ends_before: endsBefore }),
    })
  },
  columns: {
    hostname: ({ hostname }) => hostname,
    purpose: ({ purpose }) => stateWord(purpose),
    nome: ({ nome }) => nome,
    state: ({ state }) => stateWord(state),
    not_after: ({ not_after: notAfter }) => shortTime(notAfter),
    serial: ({ serial }) => serial,
  },
  wide: {
    not_before: ({ not_before: notBefore }) => shortTime(notBefore),
    renewal_expected_at: ({ renewal_expected_at: at }) => shortTime(at),
    entrega_id: ({ entrega_id: id }) => id,
    id: ({ id }) => id,
  },
  addOptions: (command) =>
    command
      .addOption(
        new Option(`${flagOf('estado')} <state>`, 'only in this state').choices(CERTIFICATE_STATES),
      )
      .option(`${flagOf('agente')} <agent>`, 'only of this agent, by hostname or id')
      .option('--ends-before <time>', 'only what ends before a time such as 2026-12-01T08:00:00Z'),
})
