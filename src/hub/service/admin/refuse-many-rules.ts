import type { StoreReader } from '../../store/store.ts'
import { AdminRefusal } from '../admin-act.ts'
import { RULES_OF_KEY_MAX } from '../find-token-use.ts'

/** Each rule of a CA or key is looked at for a host that shows what it vouches for. docs/protocol.md JNR-25. */
export async function refuseManyRules(
  reader: StoreReader,
  lookUpKeys: readonly string[],
): Promise<void> {
  for (const key of lookUpKeys) {
    const others = await reader.listJoinRulesByKey(key, RULES_OF_KEY_MAX)
    if (others.length < RULES_OF_KEY_MAX) continue
    throw new AdminRefusal(
      'join_rules_too_many',
      `${RULES_OF_KEY_MAX} join rules trust one of these CAs or keys already`,
    )
  }
}
