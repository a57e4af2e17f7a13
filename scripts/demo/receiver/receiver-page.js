// The page of the demo's receiver: puts new arrivals at the top of their panel.

const STATES = { open: "Live", closed: "The demo has stopped" };

const state = document.querySelector(".live");
const stream = new EventSource(`/stream?after=${document.body.dataset.last}`);
stream.onopen = () => showState("open");
stream.onerror = () => showState("closed");
stream.onmessage = (message) => {
  const { panel, markup } = JSON.parse(message.data);
  const list = document.getElementById(`panel-${panel}`);
  // The markup comes from the receiver's own server, which escapes everything from outside.
  list?.insertAdjacentHTML("afterbegin", markup);
  const item = list?.firstElementChild;
  item?.classList.add("is-new");
  if (item) showTimes(item);
};

function showState(name) {
  state.dataset.state = name;
  state.textContent = STATES[name];
}

function showTimes(root) {
  for (const time of root.querySelectorAll("time"))
    time.textContent = new Date(time.dateTime).toLocaleTimeString([], {
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
}

showTimes(document);
