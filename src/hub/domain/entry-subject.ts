// What an act of the hub is about, in one text: an agent’s id, a hostname, a carga’s id, or who did it. docs/protocol.md CHN-10.

/** No id and no hostname begins so. */
export const ACTOR_PREFIX = 'ator:'

export function subjectOfActor(actor: string): string {
  return ACTOR_PREFIX + actor
}
