/**
 * Lets the page paint, and hear its reader. A browser hashes what is short at once, so many hashes one after the other are one turn, awaited
 * or not. It is no timer: browsers hold up the timers of a page that nobody looks at.
 */
export async function nextTurn(): Promise<void> {
  const { port1, port2 } = new MessageChannel()
  await new Promise((resolve) => {
    port1.addEventListener('message', resolve)
    port1.start()
    port2.postMessage(undefined)
  })
  port1.close()
}
