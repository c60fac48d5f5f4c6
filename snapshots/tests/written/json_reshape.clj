; Flatten an API answer and write it back as JSON.
(def payload "{\"data\":{\"users\":[{\"id\":1,\"profile\":{\"first\":\"Ada\",\"last\":\"Lovelace\"},\"roles\":[{\"name\":\"admin\"},{\"name\":\"dev\"}]},{\"id\":2,\"profile\":{\"first\":\"Bob\"},\"roles\":[]}]}}")

(let [users (-> payload (json/parse-string true) (get-in [:data :users]))
      flat  (map (fn [{:keys [id roles] {:keys [first last]} :profile}]
                   {:id id
                    :name (str/join " " (remove nil? [first last]))
                    :roles (mapv :name roles)
                    :admin (boolean (some #{"admin"} (map :name roles)))})
                 users)]
  (json/generate-string {:count (count flat) :users flat}))
