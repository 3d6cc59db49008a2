// What keeps tests away from a real service: refused here, before anything is sent.
const LIVE_KEY = /\b(?:pk|sk|whk)_live_(?!simulator)\w+/g;
const HERE = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|(?:host|gateway)\.docker\.internal|host\.containers\.internal)$/;
const own = new Set();
/** An answer of the simulator; live keys in it are those of its simulated production, and may be used. */
export function take(answer) {
    for (const [key] of answer.matchAll(LIVE_KEY))
        own.add(key);
    return answer;
}
/** Error when a live key stands anywhere in what is given to a call, unless the simulator has made it. */
export function refuseLiveKeys(given) {
    for (const [key] of (JSON.stringify(given) ?? "").matchAll(LIVE_KEY)) {
        if (own.has(key))
            continue;
        throw new Error(`The live key ${key.slice(0, 11)}... was not sent: it is none of the simulator's, so it belongs to the real service. ` +
            "Take the keys of a world (`world.keys`), and revoke a live key that lies in a test's settings.");
    }
}
/** Whether SIMULATOR_ALLOW_HOSTS names a host, by itself or by a pattern: `rampsim, *.team.svc`. */
function isAllowed(host) {
    const named = (process.env.SIMULATOR_ALLOW_HOSTS ?? "").toLowerCase().split(/[\s,]+/);
    return named.some((one) => (one.startsWith("*.") ? host.endsWith(one.slice(1)) : one === host));
}
/** An address without the slash at its end; Error unless it is of this machine, or of a host that is allowed. */
export function originOf(address) {
    const url = new URL(address);
    if (HERE.test(url.hostname) || isAllowed(url.hostname))
        return url.origin + url.pathname.replace(/\/$/, "");
    throw new Error(`Nothing was sent to ${url.hostname}: a simulator is expected on this machine. If one is there, as between containers, ` +
        `allow the name: SIMULATOR_ALLOW_HOSTS=${url.hostname}`);
}
