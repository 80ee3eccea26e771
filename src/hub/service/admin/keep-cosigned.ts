import { openCosigned } from '../../../audit/cosigned-checkpoint.ts'
import { parseWitnessKey } from '../../../audit/signed-note.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { AdminRefusal, type Write } from '../admin-act.ts'
import { logVerifier } from '../log-tree.ts'
import { readRootAt } from '../read-log-nodes.ts'

/** The vault keeps the newest checkpoint that witnesses of others have signed. docs/protocol.md CHN-39, API-85. */
export const keepCosigned: Write<'keepCosigned'> = async (
  writer,
  { checkpoint: note, witnesses: keys },
) => {
  const witnesses = keys.map((key) => {
    const witness = parseWitnessKey(key)
    if (witness !== undefined) return witness
    throw refusal(
      `${key} is not the key of a witness that signs as c2sp.org/tlog-cosignature has it`,
    )
  })
  const tree = await writer.findLogTree()
  if (tree === undefined) throw refusal('the hub has signed no checkpoint')
  const cosigned = openCosigned(note, logVerifier(tree), witnesses)
  if ('reason' in cosigned) throw refusal(cosigned.reason)
  const { size, root } = cosigned.checkpoint
  if (size > tree.frontier.size || !(await readRootAt(writer, size)).equals(root)) {
    throw refusal(`the log does not go on from this checkpoint of ${size} entries`)
  }
  const reply = {
    entries: size,
    witnesses: cosigned.witnesses.map(({ name, at }) => ({ name, at: at.toISOString() })),
  }
  if (tree.cosigned === cosigned.note) return { acts: [], reply }
  await writer.putLogTree({ ...tree, cosigned: cosigned.note }, [])
  const names = reply.witnesses.map(({ name }) => name)
  const payload = { entries: size, witnesses: names, checkpoint: cosigned.note }
  return { acts: [{ type: HubEventType.checkpointCosigned, payload }], reply }
}

function refusal(reason: string): AdminRefusal {
  return new AdminRefusal('checkpoint_refused', reason)
}
