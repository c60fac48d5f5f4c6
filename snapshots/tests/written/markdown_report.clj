; A status report in Markdown.
(defn row [& cells] (str "| " (str/join " | " cells) " |"))

(defn project-row [{:keys [name status progress risks]}]
  (row name
       (case status "green" "OK" "red" "**AT RISK**" "?")
       (format "%.0f%%" (* 100 progress))
       (if (seq risks) (str/join ", " (map str/capitalize risks)) "-")))

(let [red (filter #(= "red" (:status %)) data/projects)]
  (->> (concat ["# Status" "" (row "Project" "State" "Done" "Risks") (row "---" "---" "---:" "---")]
               (map project-row data/projects)
               ["" (str (count red) " of " (count data/projects) " at risk"
                        (when (not-empty red) (str ": " (str/join ", " (map :name red)))) ".")])
       (str/join "\n")))
