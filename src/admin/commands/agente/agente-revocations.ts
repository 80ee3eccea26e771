import { listCommand } from '../list-command.ts'
import { shortTime } from '../short-time.ts'
import { stateWord } from '../../terminal/table.ts'

const ABOUT = `\
The hub itself refuses all of them. waiting: a running hub asks the CA until it is done. refused: the CA said that it will
not, and is asked again when the agent is revoked once more. Each is listed until it expires, soonest first.`

export const registerAgenteRevocations = listCommand({
  name: 'revocations',
  description: 'list the certificates of revoked agents that the CA has yet to revoke',
  about: ABOUT,
  plural: 'revocations',
  ask: (operations, page) => operations.listCaRevocations(page),
  columns: {
    hostname: (revocation) => revocation.hostname,
    serial: (revocation) => revocation.serial,
    purpose: (revocation) => stateWord(revocation.purpose),
    state: (revocation) => stateWord(revocation.state),
    not_after: (revocation) => shortTime(revocation.not_after),
    reason: (revocation) => revocation.reason,
  },
  isLastProse: true,
  wide: { revoked_at: (revocation) => shortTime(revocation.revoked_at) },
})
