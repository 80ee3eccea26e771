import { createTurnstile } from '../../platform/turnstile.ts'

/**
 * Of whoever the hub does not know yet: what they ask for is begun one in a turn of the event loop, of which all ports have
 * one. However many they are, an agent waits for one of them at most. docs/protocol.md LIM-24.
 */
export const strangersTurn: () => Promise<void> = createTurnstile()
