// Other pages of this browser find out at once when their cookie is gone.

new BroadcastChannel("langford").postMessage("look");
