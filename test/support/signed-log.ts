import { growLogTree, newLogTree } from '../../src/hub/service/log-tree.ts'
import type { Store } from '../../src/hub/store/store.ts'
import type { AdminRequest } from '../../src/protocol/admin/operations.ts'
import { testWitness } from './test-witness.ts'

/** As the hub does it every second; a witness of others signs that too. */
export async function signLog(store: Store): Promise<AdminRequest<'keepCosigned'>> {
  const witness = testWitness()
  const records = await store.reader.listRecords(0, 10_000)
  const { tree, filled } = growLogTree(newLogTree('vault'), records)
  await store.write((writer) => writer.putLogTree(tree, filled))
  return { checkpoint: witness.cosign(tree.checkpoint), witnesses: [witness.key] }
}
